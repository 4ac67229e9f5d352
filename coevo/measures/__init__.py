"""What is measured of tests beside their cells: what runs takes a built pair and plain records."""
