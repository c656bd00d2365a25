"""Short prefixes for long ones: selection and descent."""
