/**
 * The number of characters at the end that are always visible, because similar names often differ
 * only there.
 */
const END = 7

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
