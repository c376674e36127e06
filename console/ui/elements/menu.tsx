import { type KeyboardEvent, type ReactElement, type ReactNode, useRef, useState } from 'react'
import type { Action } from '../actions/action-registry.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'
import { Popover, PopoverAnchor, useDismissPopover } from './popover.tsx'

export type MenuItem = Action | 'divider' | { readonly head: ReactNode }

/** A button that opens a menu: `<MenuButton items={[…]}><Button …/></MenuButton>`. */
export function MenuButton(props: {
  children: ReactElement
  items: readonly MenuItem[]
  placement?: 'bottom-start' | 'bottom-end' | 'right-start'
}) {
  return (
    <Popover
      content={<Menu items={props.items} />}
      kind="menu"
      placement={props.placement ?? 'bottom-end'}
    >
      {props.children}
    </Popover>
  )
}

/**
 * The menu of a row in a list. The menu is mounted on the first click, because most of these menus
 * are never opened.
 */
export function RowMenu(props: { label: string; items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false)
  const wasOpen = useRef(false)
  return (
    <span className="tg-anchored">
      <Button
        tone="quiet"
        size="small"
        icon="more"
        label={props.label}
        hasMenu
        isExpanded={isOpen}
        // Pressing the button already closes an open menu. The click that follows must not open it
        // again.
        onPointerDown={() => {
          wasOpen.current = isOpen
        }}
        onClick={() => {
          setOpen(!wasOpen.current)
          wasOpen.current = false
        }}
      />
      {isOpen && (
        <Popover content={<Menu items={props.items} />} kind="menu" isOpen onOpenChange={setOpen}>
          <PopoverAnchor />
        </Popover>
      )}
    </span>
  )
}

/** An open menu. It handles arrow keys, Home, End, Enter and Space. */
function Menu({ items }: { items: readonly MenuItem[] }) {
  const list = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const entries = [...(list.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
    const now = entries.indexOf(document.activeElement as HTMLElement)
    const target = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: entries.length - 1 }
    const next = target[event.key as keyof typeof target]
    if (next === undefined) return
    event.preventDefault()
    entries.at(next % entries.length)?.focus()
  }
  return (
    <div className="tg-menu" role="menu" ref={list} tabIndex={-1} onKeyDown={onKeyDown}>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no name and no state
        <MenuRow key={index} item={item} />
      ))}
    </div>
  )
}

function MenuRow({ item }: { item: MenuItem }) {
  const dismiss = useDismissPopover()
  if (item === 'divider') return <hr />
  if ('head' in item) return <div className="tg-menu-head">{item.head}</div>
  const select = () => {
    dismiss()
    item.perform()
  }
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: given only to the role that has it
    <button
      type="button"
      role={item.isSelected === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={item.isSelected}
      className={item.tone === 'danger' ? 'tg-menu-item tg-menu-danger' : 'tg-menu-item'}
      onClick={select}
    >
      {item.icon !== undefined && <Icon name={item.icon} />}
      <span lang={item.lang}>{item.title}</span>
      {item.isSelected === true && <Icon name="check" />}
    </button>
  )
}
