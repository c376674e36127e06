import { translate } from '#console/i18n/i18n.ts'
import { showError } from '../messages/toast.ts'
import { askToCopyByHand } from './copy-by-hand.tsx'

/**
 * Copies to the clipboard with the modern API, else with the legacy one; if both fail, a dialog
 * shows the text to copy by hand. Returns true if the clipboard has the text.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    if (copyByCommand(text)) return true
  }
  showError(translate('ui.copyFailed'))
  askToCopyByHand(text)
  return false
}

/** For pages that are not served over TLS, where browsers offer no clipboard object. */
function copyByCommand(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'tg-visually-hidden'
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
