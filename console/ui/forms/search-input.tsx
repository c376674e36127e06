import { type ReactElement, useState } from 'react'
import type { IconName } from '../elements/icons.tsx'
import { TextInput } from './inputs.tsx'

/**
 * A search that is kept in the address. Typed letters show at once and the address follows; the box
 * follows the address only if another element changed it (Back, a button that clears).
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
    // Letters that were typed since are still pending, so an older address is ignored.
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
