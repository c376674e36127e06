import { useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { translate } from '#console/i18n/i18n.ts'
import { Overlay } from '../dialogs/overlay.tsx'
import { showError } from '../messages/toast.ts'
import { createStore } from '../state/create-store.ts'
import { Button } from './button.tsx'

/**
 * Copies a text to the clipboard, and returns true. If the browser does not allow this, shows a
 * dialog from which the user can copy the text, and returns false.
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

const dialogState = createStore({ text: '', isOpen: false })

/**
 * Opens a dialog from which the user can copy a text. The dialog is used if the browser does not
 * let the console write to the clipboard.
 */
const showManualCopyDialog = (text: string): void => dialogState.set({ text, isOpen: true })

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

export function CopyButton(props: {
  /** The text to copy, or a function that loads the text when the button is clicked. */
  text: string | (() => Promise<string>)
  label: string
  children?: string
}) {
  const { t } = useTranslation()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    const text = typeof props.text === 'string' ? props.text : await props.text()
    if (await copyText(text)) setCopied(true)
  }
  return (
    <Button
      tone="quiet"
      size="small"
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? t('ui.copied') : props.label}
      onClick={(event) => {
        event.stopPropagation()
        void copy()
      }}
    >
      {props.children}
    </Button>
  )
}
