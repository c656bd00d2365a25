"""Estimators of directions with scikit-learn's conventions."""
