export type Pick = { value: string; text: string }

export function QuickPicks(props: {
  label: string
  picks: readonly Pick[]
  chosen: string | null
  onPick: (value: string) => void
}) {
  return (
    <fieldset className="tg-picks" aria-label={props.label}>
      {props.picks.map(({ value, text }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.chosen}
          onClick={() => props.onPick(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}
