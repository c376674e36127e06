import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Overlay } from '../dialogs/overlay.tsx'
import { createStore } from '../state/create-store.ts'
import { Button } from './button.tsx'

const dialogState = createStore({ text: '', isOpen: false })

/**
 * Opens a dialog from which the user can copy a text. It is used if the browser does not let the
 * console write to the clipboard.
 */
export const showManualCopyDialog = (text: string): void => dialogState.set({ text, isOpen: true })

export function ManualCopyHost() {
  const { t } = useTranslation()
  const { text, isOpen } = dialogState.useValue()
  const id = useId()
  const keys = /Mac|iP/.test(navigator.userAgent) ? '⌘C' : 'Ctrl+C'
  const close = () => dialogState.set({ text, isOpen: false })
  return (
    <Overlay isOpen={isOpen} onClose={close} labelledBy={id} className="tg-dialog">
      <h2 id={id}>{t('ui.copyFailed')}</h2>
      <div className="tg-dialog-body">
        <p>{t('ui.copyManually', { keys })}</p>
        <textarea
          className="tg-input tg-textarea tg-mono"
          aria-labelledby={id}
          readOnly
          rows={4}
          ref={selectAll}
          value={text}
          onFocus={(event) => event.currentTarget.select()}
        />
      </div>
      <div className="tg-dialog-foot">
        <Button onClick={close}>{t('ui.close')}</Button>
      </div>
    </Overlay>
  )
}

function selectAll(node: HTMLTextAreaElement | null): void {
  node?.focus()
  node?.select()
}
