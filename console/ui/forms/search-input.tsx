import { type ReactElement, useState } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { TextInput } from './inputs.tsx'

/**
 * A search box whose text is kept in the URL, which is updated after a short delay. The box follows
 * the URL only if something else changes it, such as Back.
 */
export function SearchInput(props: {
  label: string
  value: string
  icon?: IconName
  className?: string
  onChange: (value: string) => void
}): ReactElement {
  const { label, value, icon, className, onChange } = props
  const [draft, setDraft] = useState({ text: value, seen: value, isAhead: false })
  if (value !== draft.seen) {
    // While typed letters are pending, the URL is older than the box and is ignored.
    const isAhead = draft.isAhead && value !== draft.text
    setDraft({ text: isAhead ? draft.text : value, seen: value, isAhead })
  }
  const type = (text: string) => {
    setDraft({ text, seen: value, isAhead: text !== value })
    onChange(text)
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      value={draft.text}
      onChange={type}
      {...(icon === undefined ? {} : { icon })}
      {...(className === undefined ? {} : { className })}
    />
  )
}
