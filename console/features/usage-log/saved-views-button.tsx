import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { Button } from '#console/ui/elements/button.tsx'
import { Popover } from '#console/ui/elements/popover.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { showInfo } from '#console/ui/messages/toast.ts'
import { storePreference, useLocalPreference } from '#console/ui/state/use-local-preference.ts'

const NONE: readonly SavedView[] = []

type Props = {
  hrefNow: () => string
}

/**
 * Lists the saved views of the usage log. A saved view is a set of filters and columns with a name,
 * and is stored only in this browser.
 */
export function SavedViewsButton({ hrefNow }: Props) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      isOpen={isOpen}
      onOpenChange={setOpen}
      content={<Views hrefNow={hrefNow} onDone={() => setOpen(false)} />}
    >
      <Button icon="book" label={t('usageLog.views.title')} />
    </Popover>
  )
}

function Views({ hrefNow, onDone }: Props & { onDone: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [views, store] = useLocalPreference(VIEWS_KEY, NONE, readViews)
  const remove = (view: SavedView): void => {
    store(views.filter((other) => other !== view))
    showInfo(t('usageLog.views.deleted', { name: view.name }), {
      action: { text: t('shared.undo'), onClick: () => storeView(view) },
    })
  }
  return (
    <div className="tg-log-views">
      <h3>{t('usageLog.views.title')}</h3>
      {views.length === 0 ? (
        <p className="tg-hint">{t('usageLog.views.none')}</p>
      ) : (
        <ul>
          {views.map((view) => (
            <li key={view.name}>
              <button
                type="button"
                onClick={() => {
                  onDone()
                  void navigate(`?${view.search}`)
                }}
              >
                {view.name}
              </button>
              <Button
                tone="quiet"
                size="small"
                icon="trash"
                label={t('usageLog.views.delete', { name: view.name })}
                onClick={() => remove(view)}
              />
            </li>
          ))}
        </ul>
      )}
      <NewView
        isFull={views.length >= VIEWS_MAX}
        onSave={(name) => storeView({ name, search: searchOf(hrefNow()) })}
      />
    </div>
  )
}

function NewView(props: { isFull: boolean; onSave: (name: string) => void }) {
  const { t } = useTranslation()
  const [name, setName] = useState('')
  if (props.isFull) return <p className="tg-hint">{t('usageLog.views.full', { max: VIEWS_MAX })}</p>
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '') return
        props.onSave(name.trim())
        setName('')
      }}
    >
      <TextInput
        aria-label={t('usageLog.views.name')}
        placeholder={t('usageLog.views.name')}
        value={name}
        maxLength={NAME_MAX}
        autoComplete="off"
        onChange={setName}
      />
      <Button type="submit" tone="primary" isDisabled={name.trim() === ''}>
        {t('shared.save')}
      </Button>
    </form>
  )
}

/**
 * Filters and columns that the user has saved under a name. `search` is the query string of the
 * log's URL with these filters and columns, without the page number.
 */
type SavedView = { readonly name: string; readonly search: string }

const VIEWS_KEY = 'log-views'
const VIEWS_MAX = 30
const NAME_MAX = 60
const SEARCH_MAX = 2_000

export function readViews(stored: unknown): readonly SavedView[] | null {
  if (!Array.isArray(stored)) return null
  return stored.filter(isView).slice(0, VIEWS_MAX)
}

export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name)
  return [...others, view].toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, VIEWS_MAX)
}

/**
 * Adds a view to the stored list. The list is first read from storage, because another tab may have
 * changed the list.
 */
function storeView(view: SavedView): void {
  const stored: unknown = JSON.parse(localStorage.getItem(VIEWS_KEY) ?? '[]')
  storePreference(VIEWS_KEY, withView(readViews(stored) ?? [], view))
}

export function searchOf(href: string): string {
  const params = new URL(href).searchParams
  params.delete('p')
  params.sort()
  return params.toString()
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false
  const { name, search } = value as Partial<Record<keyof SavedView, unknown>>
  const isName = typeof name === 'string' && name.length > 0 && name.length <= NAME_MAX
  return isName && typeof search === 'string' && search.length <= SEARCH_MAX
}
