import { useEffect, useEffectEvent } from 'react'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * While it is open, the initial values stay, so that concurrent changes of others are not
 * overwritten.
 */
export function useHeld(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.hold)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
