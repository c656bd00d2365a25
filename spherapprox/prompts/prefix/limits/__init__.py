"""What no prefix of a layer can do: floors, reachability and collisions."""
