"""What is measured of tests beside their cells: what runs takes a workshop and plain records."""
