import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { useCommandKeys } from '#console/ui/commands/use-command-keys.ts'
import { PALETTE_KEYS } from './keys-text.tsx'
import { useShellCommands } from './use-shell-commands.ts'
import './commands.css'

const loadPalette = () => import('./command-palette.tsx')
const CommandPalette = lazy(async () => ({ default: (await loadPalette()).CommandPalette }))
const ShortcutSheet = lazy(async () => ({
  default: (await import('./shortcut-sheet.tsx')).ShortcutSheet,
}))

const IDLE_MS = 3_000

type Shown = 'palette' | 'sheet' | null

/** The palette's button, the keys of everything, and the two dialogs, fetched when first asked. */
export function Commands(): ReactElement {
  const { t } = useTranslation()
  const [shown, setShown] = useState<Shown>(null)
  const [wanted, setWanted] = useState<ReadonlySet<Shown>>(new Set())
  const show = (dialog: Shown) => {
    setWanted((before) => new Set([...before, dialog]))
    setShown(dialog)
  }
  const close = () => setShown(null)
  useShellCommands(() => show('sheet'))
  useCommandKeys(() => (shown === 'palette' ? close() : show('palette')), shown !== null)
  useEffect(fetchWhenIdle, [])
  return (
    <>
      <Button
        tone="quiet"
        icon="search"
        label={t('commands.paletteKeys', { keys: PALETTE_KEYS })}
        onClick={() => show('palette')}
      />
      <Suspense>
        {wanted.has('palette') && <CommandPalette isOpen={shown === 'palette'} onClose={close} />}
        {wanted.has('sheet') && <ShortcutSheet isOpen={shown === 'sheet'} onClose={close} />}
      </Suspense>
    </>
  )
}

/** Not part of the first load, but there before anybody is likely to ask for it. */
function fetchWhenIdle(): () => void {
  const timer = setTimeout(() => void loadPalette(), IDLE_MS)
  return () => clearTimeout(timer)
}
