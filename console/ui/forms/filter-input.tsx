import { type KeyboardEvent, useId, useState } from 'react'
import { TextInput } from './inputs.tsx'
import './filter-input.css'

type Props = {
  label: string
  value: string
  suggestions?: readonly string[]
  /** True if the field needs space for a suggestion of several words. */
  isWide?: boolean
  /** If this property is set, the field accepts only whole numbers. */
  wholeNumber?: { errorText: string }
  onCommit: (value: string) => void
}

/**
 * A field for a filter. The text is applied when the user presses Enter, leaves or clears the
 * field, or selects a suggestion. The text is not applied after each character, because each change
 * of a filter adds an entry to the browser's history.
 */
export function FilterInput(props: Props) {
  const id = useId()
  const draft = useDraft(props)
  const list = props.suggestions ?? []
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') draft.commit(draft.text)
  }
  return (
    <span className={props.isWide === true ? 'tg-filter tg-filter-wide' : 'tg-filter'}>
      <TextInput
        aria-label={props.label}
        placeholder={props.label}
        value={draft.text}
        list={list.length > 0 ? id : undefined}
        inputMode={props.wholeNumber === undefined ? 'text' : 'numeric'}
        autoComplete="off"
        maxLength={200}
        aria-invalid={draft.isInvalid}
        aria-describedby={draft.isInvalid ? `${id}-error` : undefined}
        onChange={draft.change}
        onKeyDown={onKeyDown}
        onBlur={() => draft.commit(draft.text)}
      />
      {draft.isInvalid && (
        <span id={`${id}-error`} className="tg-filter-error" role="alert">
          {props.wholeNumber?.errorText}
        </span>
      )}
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

/** A filter by a whole number, such as an id. The filter has no effect while the number is 0. */
export function NumberFilter(props: {
  label: string
  value: number
  errorText: string
  onCommit: (value: number) => void
}) {
  const { label, value, errorText, onCommit } = props
  return (
    <FilterInput
      label={label}
      value={value === 0 ? '' : String(value)}
      wholeNumber={{ errorText }}
      onCommit={(text) => onCommit(Number(text))}
    />
  )
}

function useDraft(props: Props) {
  const [draft, setDraft] = useState({ from: props.value, text: props.value, isInvalid: false })
  const set = (text: string, isInvalid = false): void =>
    setDraft({ from: props.value, text, isInvalid })
  // The filter in the URL was changed in another way, such as by the browser's Back button.
  if (draft.from !== props.value) set(props.value)
  const commit = (typed: string): void => {
    const value = typed.trim()
    if (props.wholeNumber !== undefined && !/^\d{0,9}$/.test(value)) set(typed, true)
    else if (value !== props.value) props.onCommit(value)
  }
  const change = (text: string): void => {
    set(text)
    const isSuggestionSelected = Math.abs(text.length - draft.text.length) > 1
    if (text === '' || (isSuggestionSelected && props.suggestions?.includes(text) === true))
      commit(text)
  }
  return { ...draft, commit, change }
}
