import type { ReactElement } from 'react'

/** The characters at the end that remain visible, because similar names differ there. */
const END = 7

/** A text that is truncated in the middle if it lacks room; its title has all of it. */
export function MiddleText({ text }: { text: string }): ReactElement {
  const letters = [...text]
  const isLong = letters.length > 2 * END
  return (
    <span className="tg-middle-text" title={text}>
      <span>{isLong ? letters.slice(0, -END).join('') : text}</span>
      {isLong && <span>{letters.slice(-END).join('')}</span>}
    </span>
  )
}
