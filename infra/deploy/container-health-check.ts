/** The health check of the container, whose image does not contain curl. */
fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/readyz`).then(
  ({ ok }) => {
    process.exitCode = ok ? 0 : 1
  },
  () => {
    process.exitCode = 1
  },
)
