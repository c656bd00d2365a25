"""The covering radius of points of S^m, enclosed: hulls in few dimensions, moments and walks in many."""
