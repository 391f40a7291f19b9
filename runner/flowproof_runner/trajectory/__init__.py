"""What an agent did and was told, and how two runs of it differ. Pure: values in, values out."""
