import { type ComponentProps, useState } from 'react'
import { TextInput } from './inputs.tsx'

/**
 * A search field whose text is also in the URL. If the URL changes in another way, such as by the
 * Back button, the field shows the new text.
 */
export function SearchInput({
  label,
  value,
  onChange,
  ...rest
}: ComponentProps<typeof TextInput> & { label: string }) {
  const [draft, setDraft] = useState({ text: value, seen: value, isAhead: false })
  if (value !== draft.seen) {
    // While the user types, the URL may contain an older text. The field ignores this text.
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
      icon="search"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      value={draft.text}
      onChange={type}
      {...rest}
    />
  )
}
