import { useEffect, useEffectEvent } from 'react'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * While `isOpen`, does not refresh the option values in the form. A save then detects whether
 * another user has changed them.
 */
export function useHeld(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.hold)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
