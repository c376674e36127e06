import { useSyncExternalStore } from 'react'

type ThemeMode = 'light' | 'dark'

const KEY = 'theme-mode'
const SYSTEM = '(prefers-color-scheme: dark)'
const listeners = new Set<() => void>()

const currentTheme = (): ThemeMode =>
  document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'

export function chooseTheme(mode: ThemeMode): void {
  localStorage.setItem(KEY, mode)
  apply()
}

export function useTheme(): ThemeMode {
  return useSyncExternalStore(subscribe, currentTheme)
}

/**
 * Applies the theme that the user has selected, now or at an earlier visit. Until then, follows the
 * theme of the operating system. Also applies a selection made in another tab.
 */
export function followTheme(): void {
  window.matchMedia(SYSTEM).addEventListener('change', apply)
  window.addEventListener('storage', (event) => {
    if (event.key === KEY || event.key === null) apply()
  })
  apply()
}

function apply(): void {
  const stored = localStorage.getItem(KEY)
  const isDark = stored === 'dark' || (stored !== 'light' && window.matchMedia(SYSTEM).matches)
  const root = document.documentElement
  root.classList.toggle('bp6-dark', isDark)
  root.dataset.theme = isDark ? 'dark' : 'light'
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
