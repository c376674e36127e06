import type { ReactElement } from 'react'

/** The number of visible characters at the end, where similar names differ. */
const END = 7

/** A text that is truncated in the middle if it does not fit; its tooltip shows the full text. */
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
