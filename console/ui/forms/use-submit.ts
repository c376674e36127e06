import { type RefObject, useRef, useState } from 'react'
import { translate } from '#console/i18n/i18n.ts'
import { dismissErrors, showError } from '../messages/toast.ts'

const showDuplicate = () => showError(translate('ui.duplicateSubmit'), { staysOnNavigation: true })

/**
 * Returns a function that runs `perform` when the user submits a form. An error of `perform` is
 * shown as a toast. A submission while `perform` is still running only calls `onDuplicate` and
 * `onRepeat`.
 */
export function useSubmit<Args extends readonly unknown[] = []>(
  perform: (...args: Args) => Promise<void>,
  onRepeat?: () => void,
  onDuplicate: () => void = showDuplicate,
): { isBusy: boolean; submit: (...args: Args) => Promise<void> } {
  const isRunning = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const submit = async (...args: Args) => {
    if (isRunning.current) {
      onDuplicate()
      onRepeat?.()
      return
    }
    isRunning.current = true
    setBusy(true)
    dismissErrors()
    try {
      await perform(...args)
    } catch (error) {
      showError(error)
    } finally {
      isRunning.current = false
      setBusy(false)
    }
  }
  return { isBusy, submit }
}

/** The maximum number of animation frames to wait until the errors are rendered. */
const FRAMES_MAX = 20

export function focusFirstError(form: RefObject<HTMLElement | null>, frames = FRAMES_MAX): void {
  requestAnimationFrame(() => {
    const control = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    if (control) {
      control.focus()
      control.scrollIntoView({ block: 'center' })
    } else if (frames > 1) focusFirstError(form, frames - 1)
  })
}
