/** The number of characters at the end that stay visible. Similar names differ at the end. */
const END = 7

/**
 * Shows a text that is truncated in the middle if it is too long. A tooltip shows the complete
 * text.
 */
export function MiddleEllipsis({ text }: { text: string }) {
  const letters = [...text]
  const isLong = letters.length > 2 * END
  return (
    <span className="tg-middle-text" title={text}>
      <span>{isLong ? letters.slice(0, -END).join('') : text}</span>
      {isLong && <span>{letters.slice(-END).join('')}</span>}
    </span>
  )
}
