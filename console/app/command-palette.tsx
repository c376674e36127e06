import { type KeyboardEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Overlay } from '#console/ui/dialogs/overlay.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { ShortcutKeys } from './shortcut-key-symbols.tsx'
import { type Entry, usePaletteEntries } from './use-palette-entries.ts'

type Props = { isOpen: boolean; onClose: () => void }

export function CommandPalette(props: Props) {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay {...props} labelledBy={id} className="tg-dialog tg-palette">
      <h2 id={id} className="tg-visually-hidden">
        {t('commands.palette')}
      </h2>
      <Palette onClose={props.onClose} />
    </Overlay>
  )
}

function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const id = useId()
  const [query, setQuery] = useState('')
  const [place, setPlace] = useState(0)
  const entries = usePaletteEntries(query)
  const active = Math.min(place, entries.length - 1)
  const select = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.perform()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const last = entries.length - 1
    const next = {
      ArrowDown: active >= last ? 0 : active + 1,
      ArrowUp: active <= 0 ? last : active - 1,
    }[event.key]
    if (next !== undefined) setPlace(next)
    else if (event.key === 'Enter') select(entries[active])
    else return
    event.preventDefault()
  }
  return (
    <>
      <div className="tg-palette-box">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={t('commands.search')}
          placeholder={t('commands.search')}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={active < 0 ? undefined : `${id}-${active}`}
          autoComplete="off"
          // biome-ignore lint/a11y/noAutofocus: the user opened this dialog, which has one field
          autoFocus
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value)
            setPlace(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Entries id={id} entries={entries} active={active} onSelect={select} />
    </>
  )
}

function Entries(props: {
  id: string
  entries: readonly Entry[]
  active: number
  onSelect: (entry: Entry) => void
}) {
  const { t } = useTranslation()
  const { id, entries, active } = props
  const sections = [...new Set(entries.map(({ section }) => section))]
  return (
    <>
      {entries.length === 0 && <output className="tg-palette-none">{t('commands.nothing')}</output>}
      <div
        className="tg-palette-list"
        id={`${id}-list`}
        role="listbox"
        aria-label={t('commands.palette')}
        tabIndex={-1}
        hidden={entries.length === 0}
      >
        {sections.map((section) => (
          // biome-ignore lint/a11y/useSemanticElements: these are options of a listbox
          <div key={section} role="group" aria-label={t(`commands.section.${section}`)}>
            <p aria-hidden="true">{t(`commands.section.${section}`)}</p>
            {entries.map((entry, index) =>
              entry.section !== section ? null : (
                <Option
                  key={entry.id}
                  id={`${id}-${index}`}
                  entry={entry}
                  isActive={index === active}
                  onSelect={() => props.onSelect(entry)}
                />
              ),
            )}
          </div>
        ))}
      </div>
    </>
  )
}

function Option(props: { id: string; entry: Entry; isActive: boolean; onSelect: () => void }) {
  const { entry, isActive } = props
  const show = (element: HTMLElement | null) => {
    if (isActive) element?.scrollIntoView({ block: 'nearest' })
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the text field keeps the focus and handles keys
    <div
      ref={show}
      id={props.id}
      role="option"
      aria-selected={isActive}
      tabIndex={-1}
      className="tg-palette-option"
      onClick={props.onSelect}
    >
      {entry.icon !== undefined && <Icon name={entry.icon} />}
      <span>{entry.title}</span>
      {entry.keys !== undefined && <ShortcutKeys keys={entry.keys} />}
    </div>
  )
}
