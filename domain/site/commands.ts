export type InitializeSite = {
  readonly type: 'InitializeSite'
  readonly rootUserId: number
  readonly isSelfUse: boolean
  readonly isDemoSite: boolean
}

export type SiteCommand = InitializeSite
