import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../elements/icons.tsx'
import { type LabelledProps, labelledField } from './fields.tsx'
import type { FieldControl } from './form-field.tsx'
import './names-field.css'

const SUGGESTIONS_MAX = 50

type NameListProps = {
  control: FieldControl
  names: readonly string[]
  onChange: (names: readonly string[]) => void
  suggestions?: readonly string[]
  placeholder?: string
  /** True if the user may enter names that are not among the suggestions. The default is true. */
  isOpenEnded?: boolean
  show?: (name: string) => ReactNode
}

type NamesFieldProps = Omit<NameListProps, 'control' | 'names'> &
  LabelledProps & { value: readonly string[] }

export function NamesField(props: NamesFieldProps) {
  const { label, hint, error, isRequired, value, ...list } = props
  return labelledField({ label, hint, error, isRequired }, (control) => (
    <NameList {...list} control={control} names={value} />
  ))
}

/**
 * An editable list of names. The user types names, pastes them separated by commas or line breaks,
 * or selects them from suggestions.
 */
export function NameList(props: NameListProps) {
  const { names } = props
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const remove = (name: string) => props.onChange(names.filter((other) => other !== name))
  const add = (typed: string) => {
    const suggestions = props.suggestions ?? []
    const fresh = typed
      .split(/[,\n]/)
      .map((name) => name.trim())
      .filter((name) => name !== '' && (props.isOpenEnded !== false || suggestions.includes(name)))
    if (fresh.length > 0) props.onChange([...new Set([...names, ...fresh])])
    setText('')
  }
  return (
    <div>
      {names.length > 0 && (
        <ul className="tg-names-selected">
          {names.map((name) => (
            <li key={name}>
              <span>{props.show === undefined ? name : props.show(name)}</span>
              <button
                type="button"
                aria-label={t('ui.remove', { name })}
                onClick={() => remove(name)}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <SuggestionInput
        {...props}
        text={text}
        onText={(typed) => (/[,\n]/.test(typed) ? add(typed) : setText(typed))}
        onAdd={add}
        onRemoveLast={() => props.onChange(names.slice(0, -1))}
      />
    </div>
  )
}

type SuggestionInputProps = NameListProps & {
  text: string
  onText: (text: string) => void
  onAdd: (text: string) => void
  onRemoveLast: () => void
}

/**
 * A text field with suggestions. Arrow keys move to a suggestion. Enter adds this suggestion or, if
 * there is none, the typed text. Escape closes the suggestions.
 */
function SuggestionInput(props: SuggestionInputProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const found = matching(props)
  const isShown = isOpen && found.length > 0
  const take = (name: string) => {
    props.onAdd(name)
    setActive(-1)
  }
  const keys = { found, active, isShown, take, setOpen, setActive }
  return (
    <div className="tg-names-entry">
      <input
        {...props.control}
        className="tg-input"
        type="text"
        role="combobox"
        aria-expanded={isShown}
        aria-controls={isShown ? `${id}-list` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        placeholder={props.placeholder}
        value={props.text}
        onChange={(event) => {
          props.onText(event.currentTarget.value)
          setOpen(true)
          setActive(-1)
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text')
          if (!/[,\n]/.test(pasted)) return
          event.preventDefault()
          props.onAdd(props.text + pasted)
        }}
        onClick={() => setOpen(true)}
        onKeyDown={(event) => onListKey(event, props, keys)}
        onBlur={() => {
          setOpen(false)
          if (props.text !== '') props.onAdd(props.text)
        }}
      />
      {isShown && <SuggestionList id={id} names={found} active={active} onTake={take} />}
    </div>
  )
}

type ListKeys = {
  found: readonly string[]
  active: number
  isShown: boolean
  take: (name: string) => void
  setOpen: (isOpen: boolean) => void
  setActive: (index: number) => void
}

function onListKey(
  event: KeyboardEvent<HTMLInputElement>,
  props: SuggestionInputProps,
  { found, active, isShown, take, setOpen, setActive }: ListKeys,
): void {
  if (event.nativeEvent.isComposing) return
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    setOpen(true)
    const step = event.key === 'ArrowDown' ? 1 : -1
    setActive((active + step + found.length + (active < 0 && step < 0 ? 1 : 0)) % found.length)
  } else if (event.key === 'Enter') {
    event.preventDefault()
    take((isShown ? found[active] : undefined) ?? props.text)
  } else if (event.key === 'Escape' && isShown) {
    event.stopPropagation()
    event.nativeEvent.stopImmediatePropagation()
    setOpen(false)
  } else if (event.key === 'Backspace' && props.text === '') props.onRemoveLast()
}

function SuggestionList(props: {
  id: string
  names: readonly string[]
  active: number
  onTake: (name: string) => void
}) {
  return (
    <div className="tg-names-list" id={`${props.id}-list`} role="listbox" tabIndex={-1}>
      {props.names.map((name, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text box has the focus
        <div
          key={name}
          id={`${props.id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === props.active}
          // A click must not take the focus from the text field, because the suggestions close when
          // the field loses the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => props.onTake(name)}
        >
          {name}
        </div>
      ))}
    </div>
  )
}

function matching({ text, names, suggestions = [] }: SuggestionInputProps): string[] {
  const needle = text.trim().toLowerCase()
  return suggestions
    .filter((name) => !names.includes(name) && name.toLowerCase().includes(needle))
    .slice(0, SUGGESTIONS_MAX)
}
