import { type ReactElement, useState } from 'react'
import type { IconName } from './icons.tsx'
import { TextInput } from './inputs.tsx'

/**
 * A search that is kept in the address. What is typed shows at once; the address follows, and is
 * followed only when somebody else changed it (Back, a button that clears).
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
    // Letters typed since are on their way through the address: an older state of it is no news.
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
