import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react'

type Tab<Id extends string> = { id: Id; title: ReactNode }

export function Tabs<Id extends string>(props: {
  label: string
  tabs: readonly Tab<Id>[]
  selected: Id
  onSelect: (id: Id) => void
  children: ReactNode
}) {
  const base = useId()
  const list = useRef<HTMLDivElement>(null)
  // The selected tab is scrolled into view, because a narrow screen may not show all tabs.
  useEffect(() => {
    const selected = list.current?.querySelector<HTMLElement>(`[id="${base}-${props.selected}"]`)
    if (list.current === null || selected == null) return
    const { offsetLeft, clientWidth } = list.current
    const middle = selected.offsetLeft - offsetLeft + selected.offsetWidth / 2
    list.current.scrollLeft = middle - clientWidth / 2
  }, [base, props.selected])
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    const index = props.tabs.findIndex((tab) => tab.id === props.selected)
    const next = props.tabs[(index + step + props.tabs.length) % props.tabs.length]
    if (next === undefined) return
    event.preventDefault()
    props.onSelect(next.id)
    document.getElementById(`${base}-${next.id}`)?.focus()
  }
  return (
    <div>
      <div
        ref={list}
        className="tg-tab-list"
        role="tablist"
        aria-label={props.label}
        onKeyDown={move}
      >
        {props.tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            aria-selected={tab.id === props.selected}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === props.selected ? 0 : -1}
            onClick={() => props.onSelect(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div
        id={`${base}-panel`}
        role="tabpanel"
        aria-labelledby={`${base}-${props.selected}`}
        className="tg-tab-panel"
      >
        {props.children}
      </div>
    </div>
  )
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 }
