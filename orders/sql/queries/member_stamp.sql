-- The stamp of a venue for one of its members, with the check of the membership.
SELECT venue.timezone, ({stamp})
FROM accounts_venue AS venue
JOIN accounts_account AS account ON account.id = venue.account_id AND account.closed_at IS NULL
JOIN accounts_membership AS membership ON membership.account_id = account.id
WHERE venue.id = %(venue)s AND membership.user_id = %(user)s AND membership.role = ANY(%(roles)s) AND (
    NOT EXISTS (SELECT FROM accounts_membership_venues AS listed WHERE listed.membership_id = membership.id)
    OR EXISTS (
        SELECT FROM accounts_membership_venues AS listed
        WHERE listed.membership_id = membership.id AND listed.venue_id = venue.id
    )
)
