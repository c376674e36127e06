import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { showError } from '#console/ui/messages/toast.ts'

/**
 * An integer that is edited in its row. Enter and blur save the number, and Escape restores the old
 * number. For the channels of a tag with different numbers, the number is null and the box is
 * empty.
 */
export function InlineInteger(props: {
  label: string
  value: number | null
  min: number
  onSave: (value: number) => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState<string | null>(null)
  const stored = props.value === null ? '' : String(props.value)
  const shown = text ?? stored
  const isWrong = shown !== stored && (!/^-?\d{1,9}$/.test(shown.trim()) || +shown < props.min)
  const save = () => {
    if (isWrong) showError(t(props.min < 0 ? 'channels.notWhole' : 'channels.notWholeFromZero'))
    else if (text !== null && text.trim() !== stored) props.onSave(Number(text))
    setText(null)
  }
  return (
    <input
      className="tg-input tg-inline-number"
      inputMode="numeric"
      aria-label={props.label}
      aria-invalid={isWrong ? true : undefined}
      placeholder="–"
      value={shown}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={save}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setText(null)
      }}
    />
  )
}
