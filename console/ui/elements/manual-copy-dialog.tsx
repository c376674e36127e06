import { useId, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { Overlay } from '../dialogs/overlay.tsx'
import { Button } from './button.tsx'

let shown: { text: string; isOpen: boolean } = { text: '', isOpen: false }
const listeners = new Set<() => void>()

/** Opens a dialog with the text selected, if the browser denies access to the clipboard. */
export function askToCopyByHand(text: string): void {
  set({ text, isOpen: true })
}

/** The dialog of `askToCopyByHand()`. The app contains this component once. */
export function CopyByHandHost() {
  const { t } = useTranslation()
  const { text, isOpen } = useSyncExternalStore(subscribe, () => shown)
  const id = useId()
  const keys = /Mac|iP/.test(navigator.userAgent) ? '⌘C' : 'Ctrl+C'
  const close = () => set({ text, isOpen: false })
  return (
    <Overlay isOpen={isOpen} onClose={close} labelledBy={id} className="tg-dialog">
      <h2 id={id}>{t('ui.copyFailed')}</h2>
      <div className="tg-dialog-body">
        <p>{t('ui.copyByHand', { keys })}</p>
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

function set(next: typeof shown): void {
  shown = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
