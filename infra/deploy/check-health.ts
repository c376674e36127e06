/** Exits with 0 while this container's `/readyz` answers well: the image has no curl. */
fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/readyz`).then(
  ({ ok }) => {
    process.exitCode = ok ? 0 : 1
  },
  () => {
    process.exitCode = 1
  },
)
