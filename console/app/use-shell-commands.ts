import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { COPIES_PAGE, closeScratchCopy, currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { type RegisteredAction, useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { useStatus } from '../api/status.ts'
import { useAccountActions } from './account-menu.tsx'
import { languageActions } from './language-menu.tsx'
import { GO_KEYS, navItems } from './navigation.ts'
import { useThemeAction } from './top-bar.tsx'

const WITH_KEYWORDS = ['channels', 'me', 'reconciliation', 'settings', 'tokens', 'wallet'] as const
type LabelWithKeywords = (typeof WITH_KEYWORDS)[number]
const hasKeywords = (label: string): label is LabelWithKeywords =>
  WITH_KEYWORDS.some((name) => name === label)

export function useShellCommands(onSheet: () => void): void {
  const { t } = useTranslation()
  const actions = useActions()
  useRegisterActions([
    ...useNavigationActions(),
    ...actions,
    {
      id: 'sheet',
      title: t('commands.sheet'),
      section: 'action',
      keys: '?',
      icon: 'keyboard',
      perform: onSheet,
    },
    {
      id: 'search',
      title: t('commands.focusSearch'),
      section: 'action',
      keys: '/',
      icon: 'search',
      isKeyOnly: true,
      perform: focusSearch,
    },
  ])
}

function useNavigationActions(): RegisteredAction[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const items = navItems(useUser(), useStatus())
  const pages = items.map(
    ({ label, path, icon }): RegisteredAction => ({
      id: `go-${label}`,
      title: t('commands.goTo', { page: t(`shell.${label}`) }),
      section: 'go',
      keys: `g ${GO_KEYS[label]}`,
      keywords: hasKeywords(label) ? t(`commands.keywords.${label}`) : '',
      icon,
      perform: () => void navigate(path),
    }),
  )
  const { start } = useAccountActions()
  const title = t('commands.goTo', { page: start.title })
  return [...pages, { ...start, title, section: 'go' }]
}

function useActions(): RegisteredAction[] {
  const { t } = useTranslation()
  const theme = useThemeAction()
  const { logout } = useAccountActions()
  const copyLink = async () => {
    if (await copyText(window.location.href)) showSuccess(t('commands.linkCopied'))
  }
  const others = languageActions().filter(({ isSelected }) => !isSelected)
  return [
    {
      id: 'copy-link',
      title: t('shared.copyLink'),
      section: 'action',
      keys: 'c',
      icon: 'link',
      perform: () => void copyLink(),
    },
    { ...theme, section: 'action' },
    ...others.map(({ id, title: name, perform }) => ({
      id,
      title: t('commands.chooseLanguage', { name }),
      section: 'action' as const,
      icon: 'language' as const,
      perform,
    })),
    ...useCopyActions(),
    { ...logout, section: 'action' },
  ]
}

/**
 * Returns the commands with which auditors open and close a scratch copy: the site as of an earlier
 * time.
 */
function useCopyActions(): RegisteredAction[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const user = useUser()
  const id = 'scratch-copy'
  if (currentScratchCopy() !== null) {
    const title = t('shell.copyLeave')
    return [{ id, title, section: 'action', icon: 'clock', perform: closeScratchCopy }]
  }
  if (!isAuditor(user)) return []
  const toCopies = () => void navigate(COPIES_PAGE)
  return [
    {
      ...{ id, title: t('commands.scratchCopy'), keywords: t('commands.keywords.scratchCopy') },
      ...{ section: 'action', icon: 'clock', perform: toCopies },
    },
  ]
}

function focusSearch(): void {
  const inputs = document.querySelectorAll<HTMLInputElement>('#main search input')
  const field = [...inputs].find(({ type }) => type === 'search') ?? inputs[0]
  field?.focus()
  field?.select()
}
