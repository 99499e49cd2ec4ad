"""Sessions for engines that a team has: flat JSON lines, Parquet, and OpenTelemetry spans."""
