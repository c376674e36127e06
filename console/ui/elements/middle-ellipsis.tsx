/**
 * The number of characters at the end that are always visible, because similar names often differ
 * only at the end.
 */
const END_CHARACTERS = 7

export function MiddleEllipsis({ text }: { text: string }) {
  const letters = [...text]
  const isLong = letters.length > 2 * END_CHARACTERS
  return (
    <span className="tg-middle-text" title={text}>
      <span>{isLong ? letters.slice(0, -END_CHARACTERS).join('') : text}</span>
      {isLong && <span>{letters.slice(-END_CHARACTERS).join('')}</span>}
    </span>
  )
}
