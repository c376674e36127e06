import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'

/** Copies a text without showing it; the icon turns into a check for a moment. */
export function CopyButton(props: {
  /** The text, or a function that reads it on press. */
  text: string | (() => Promise<string>)
  /** The accessible name of the button, which names the copied text. */
  label: string
  /** The text on the button; without it there is only an icon. */
  children?: string
}): ReactElement {
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
