import { type KeyboardEvent, type ReactElement, useId, useState } from 'react'
import { TextInput } from '#console/ui/inputs.tsx'

/**
 * A filter that is typed: it counts on Enter, when the box is left, or when a suggestion is taken,
 * so that every step of Back is one that was meant.
 */
export function DraftInput(props: {
  label: string
  value: string
  suggestions?: readonly string[]
  isWhole?: boolean
  onCommit: (value: string) => void
}): ReactElement {
  const id = useId()
  const [draft, setDraft] = useState({ from: props.value, text: props.value })
  // The address changed under the box (Back, a pressed cell): it follows.
  if (draft.from !== props.value) setDraft({ from: props.value, text: props.value })
  const commit = (text: string): void => {
    const value = text.trim()
    if (value !== props.value) props.onCommit(value)
  }
  const change = (typed: string): void => {
    const text = props.isWhole === true ? typed.replace(/\D/g, '').slice(0, 9) : typed
    setDraft({ from: props.value, text })
    const isTaken = Math.abs(text.length - draft.text.length) > 1
    if (text === '' || (isTaken && props.suggestions?.includes(text) === true)) commit(text)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') commit(draft.text)
  }
  const list = props.suggestions ?? []
  return (
    <span className="tg-log-filter">
      <TextInput
        aria-label={props.label}
        placeholder={props.label}
        value={draft.text}
        list={list.length > 0 ? id : undefined}
        inputMode={props.isWhole === true ? 'numeric' : 'text'}
        autoComplete="off"
        maxLength={200}
        onChange={change}
        onKeyDown={onKeyDown}
        onBlur={() => commit(draft.text)}
      />
      {list.length > 0 && (
        <datalist id={id}>
          {list.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </span>
  )
}
