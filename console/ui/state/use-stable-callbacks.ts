import { useMemo, useRef } from 'react'

// biome-ignore lint/suspicious/noExplicitAny: the functions have any parameters
type Functions = Readonly<Record<string, (...args: any[]) => unknown>>

/**
 * Returns functions whose identities never change but which call the latest `actions`. Memoized
 * rows can therefore receive these functions without being rendered again.
 */
export function useStableCallbacks<Acts extends Functions>(actions: Acts): Acts {
  const latest = useRef(actions)
  latest.current = actions
  return useMemo(() => {
    const stable = Object.keys(latest.current).map((name) => [
      name,
      (...args: unknown[]) => latest.current[name]?.(...args),
    ])
    return Object.fromEntries(stable) as Acts
  }, [])
}
