// Runs before the first paint, so that the page does not appear in the wrong theme for a moment.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('theme-mode')
  } catch {
    // Without storage, the theme of the operating system applies.
  }
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('bp6-dark', isDark)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
})()
