"""Theorems 4.12, 4.14 and 4.15 of Petrov (2025), and the lemmas of its appendix B; `bounds.thesis` names them."""
