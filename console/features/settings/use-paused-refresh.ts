import { useEffect, useEffectEvent } from 'react'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Pauses the refresh of options while `isOpen` is true. Saving still detects changes that other
 * users made during the pause.
 */
export function usePausedRefresh(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.hold)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
