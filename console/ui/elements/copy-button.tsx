import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'

export function CopyButton(props: {
  /** The text to copy, or a function that loads it when the button is clicked. */
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
