import { useEffect, useEffectEvent } from 'react'
import type { SettingsForm } from './use-settings-form.ts'

/** Freezes the baseline while `isOpen`, so that a save cannot overwrite concurrent changes. */
export function useHeld(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.hold)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
