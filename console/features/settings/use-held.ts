import { useEffect, useEffectEvent } from 'react'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Keeps the baseline values while an editor is open, so that concurrent changes are not overwritten
 * unseen.
 */
export function useHeld(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.hold)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
