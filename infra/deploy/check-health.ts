/**
 * Exits with 0 when `/readyz` of this container succeeds. The program replaces curl, which the
 * image does not have.
 */
fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/readyz`).then(
  ({ ok }) => {
    process.exitCode = ok ? 0 : 1
  },
  () => {
    process.exitCode = 1
  },
)
