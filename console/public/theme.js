// Runs before the first paint, so that the chosen theme never flashes the other one.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('theme-mode')
  } catch {
    // No storage: the system decides.
  }
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('bp6-dark', isDark)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
})()
