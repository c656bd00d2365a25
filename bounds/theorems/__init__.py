"""The library's own theorems: errors and prefix lengths for Lipschitz and Hoelder targets, without C_R and C_H.

Numbers such as 4.3 are the sections of docs/theorems.md, where each statement is proved.
"""
