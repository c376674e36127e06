import { translate } from '#console/i18n/i18n.ts'
import { showError } from '../messages/toast.ts'
import { showManualCopyDialog } from './manual-copy-dialog.tsx'

/**
 * Copies a text to the clipboard, and returns true. If the browser does not allow it, shows the
 * text in a dialog from which the user can copy it, and returns false.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    if (copyByCommand(text)) return true
  }
  showError(translate('ui.copyFailed'))
  showManualCopyDialog(text)
  return false
}

/**
 * Copies a text with an outdated browser function, which is the only one that works without TLS.
 * Reports whether the text was copied.
 */
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
