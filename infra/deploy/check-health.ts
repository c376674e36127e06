/**
 * Exits with 0 when this container's `/readyz` succeeds. The image has no curl that could do this.
 */
fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/readyz`).then(
  ({ ok }) => {
    process.exitCode = ok ? 0 : 1
  },
  () => {
    process.exitCode = 1
  },
)
