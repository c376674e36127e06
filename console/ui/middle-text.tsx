import type { ReactElement } from 'react'

/** So many characters at the end stay in sight: names made together differ there. */
const END = 7

/** A text that is cut in the middle where there is no room for it; whole in its title. */
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
