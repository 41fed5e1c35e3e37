// Generated from /asyncapi.json by npm run generate.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        subscribe: {
            /** @description Rounded up to 10, 25, 50 or 100 */
            limit?: number;
            /** @constant */
            type: "subscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "top";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
        } | {
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
            /** @default 5 */
            around: number;
            /** @constant */
            type: "subscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "player";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
        } | {
            /** @description The first row is that of rank offset + 1 */
            offset: number;
            /**
             * @description Not rounded
             * @default 10
             */
            limit: number;
            /** @constant */
            type: "subscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "range";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
        } | {
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
            /** @constant */
            type: "subscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "friends";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
        } | {
            /**
             * @description Guilds are ranked over all players
             * @enum {string}
             */
            scope?: "global";
            /** @description Guilds have no faces */
            fields?: unknown;
            /** @constant */
            type: "subscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "guilds";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description Rounded up to 10, 25, 50 or 100 */
            limit?: number;
        } | {
            /** @description A rating pool */
            pool: string;
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
            /** @constant */
            type: "subscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "rating";
        };
        resume: {
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @constant */
            type: "resume";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "top";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
            /** @description Rounded up to 10, 25, 50 or 100 */
            limit?: number;
        } | {
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @constant */
            type: "resume";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "player";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
            /** @default 5 */
            around: number;
        } | {
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @constant */
            type: "resume";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "range";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
            /** @description The first row is that of rank offset + 1 */
            offset: number;
            /**
             * @description Not rounded
             * @default 10
             */
            limit: number;
        } | {
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @constant */
            type: "resume";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "friends";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /** @description global, region:EU, guild:red, country:US … */
            scope?: string;
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description What rows show on request. player: the face of their player; `resume` is then answered by a snapshot */
            fields?: "player"[];
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
        } | {
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @constant */
            type: "resume";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "guilds";
            board: string;
            /** @description alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads */
            window?: string;
            /**
             * @description Guilds are ranked over all players
             * @enum {string}
             */
            scope?: "global";
            /**
             * @description Default: the board's; dense only on boards that keep it
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /** @description Guilds have no faces */
            fields?: "player"[];
            /** @description Rounded up to 10, 25, 50 or 100 */
            limit?: number;
        } | {
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @constant */
            type: "resume";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @constant */
            channel: "rating";
            /** @description A rating pool */
            pool: string;
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
        };
        unsubscribe: {
            /** @constant */
            type: "unsubscribe";
            /** @description The subscription's id, unique on its socket */
            id: string;
        };
        authenticate: {
            /** @constant */
            type: "authenticate";
            token: string;
        };
        snapshot: {
            /** @constant */
            type: "snapshot";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /**
             * Format: date-time
             * @description RFC 3339 UTC with milliseconds
             */
            asOf: string;
            total: number;
            /**
             * @description Ranks (of friends: those among everybody) and the total are estimated: while entries cross between shards by score, and of players beyond those that are kept exact, whose own row is shown alone. Absent: exact
             * @constant
             */
            accuracy?: "estimated";
            /** @description How far off they are at most, for the list as of asOf */
            errorBound?: number;
            /**
             * @description Of the ranks here and in the deltas that follow
             * @enum {string}
             */
            rankStyle?: "ordinal" | "competition" | "dense";
            /**
             * @description Of the rows of equal rank here and in the deltas that follow: which achievedAt stands first; none: times do not count, the bytes of the player id alone
             * @enum {string}
             */
            tiebreak?: "earliest" | "latest" | "none";
            entries: components["schemas"]["Entry"][];
        } | {
            /** @constant */
            type: "snapshot";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @description Of the last game that changed it; 0 without one */
            seq: number;
            /**
             * Format: date-time
             * @description RFC 3339 UTC with milliseconds
             */
            asOf: string;
            /** @description null before the first rated game, and of a player who is not listed */
            rating: {
                rating: number;
                deviation: number | null;
                conservative: number;
                games: number;
                wins: number;
                draws: number;
                losses: number;
                provisional: boolean;
                rankable: boolean;
            } | null;
        };
        rating: {
            /** @constant */
            type: "rating";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @description The game's position in its pool: grows, with gaps, and never repeats */
            seq: number;
            gameId: string;
            before: number;
            after: number;
            /** @description after − before */
            delta: number;
            /**
             * Format: date-time
             * @description RFC 3339 UTC with milliseconds
             */
            asOf: string;
        };
        delta: {
            /** @constant */
            type: "delta";
            /** @description The subscription's id, unique on its socket */
            id: string;
            /** @description Grows with every change, with gaps, and never repeats */
            seq: number;
            /** @description Grows with every change, with gaps, and never repeats */
            previousSeq: number;
            /**
             * Format: date-time
             * @description RFC 3339 UTC with milliseconds
             */
            asOf: string;
            total: number;
            /**
             * @description Ranks (of friends: those among everybody) and the total are estimated: while entries cross between shards by score, and of players beyond those that are kept exact, whose own row is shown alone. Absent: exact
             * @constant
             */
            accuracy?: "estimated";
            /** @description How far off they are at most, for the list as of asOf */
            errorBound?: number;
            changes: (components["schemas"]["EntryChange"] | components["schemas"]["ShiftChange"] | components["schemas"]["LeaveChange"])[];
        };
        error: {
            /** @constant */
            type: "error";
            /** @description The subscription's id, unique on its socket */
            id?: string;
            problem: components["schemas"]["Problem"];
        };
        "window-closed": {
            /** @constant */
            type: "window-closed";
            /** @description The subscription's id, unique on its socket */
            id: string;
            window: string;
        };
        "standings-revised": {
            /** @constant */
            type: "standings-revised";
            /** @description The subscription's id, unique on its socket */
            id: string;
            window: string;
            /** @description The number of the edition that reads answer from now on. */
            edition: number;
        };
        ping: {
            /** @constant */
            type: "ping";
            /**
             * Format: date-time
             * @description As of when the lists that this socket follows are as it was told; never falls while they stay the same lists
             */
            asOf: string;
        };
        Entry: {
            /** @description 1-based, in the style of the snapshot. Rows of equal rank stand in the order of the tie-break: time, then the bytes of the player id. An ordinal gap is the place of a player who is not listed */
            rank: number;
            /** @description The rank among everybody in the list, 1-based; in rows of friends alone */
            globalRank?: number;
            /** @description 1-128 bytes of UTF-8; of guilds the guild's id */
            playerId: string;
            /** @description The id of the submission, on boards where each run is an entry: with the player it names the row */
            entryId?: string;
            displayName: string | null;
            /** @description With fields: ["player"], of players: their face as it is now. A row whose face changed comes among the changes */
            player?: {
                avatarUrl: string | null;
                region: string | null;
                attributes: {
                    [key: string]: string;
                };
            };
            score: number;
            columns: {
                [key: string]: number;
            };
            achievedAt: string | null;
            metadata: Record<string, unknown> | null;
            /** @description On boards that keep runs, of players: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run */
            verified?: boolean;
            /** @description Of that run, an https URL: on boards with `proof: everyone` */
            proof?: string | null;
            /** @description On boards with decay: the score without its tax */
            rawScore?: number;
            /** @description On boards with decay: the patch as which the run counts */
            patch?: string;
            /** @description On boards with decay: how many patches that is behind the latest */
            patchesBehind?: number;
        };
        /** @description A row that is new or changed (of friends: also one whose globalRank changed): whole, as in the snapshot */
        EntryChange: {
            /** @description 1-based, in the style of the snapshot. Rows of equal rank stand in the order of the tie-break: time, then the bytes of the player id. An ordinal gap is the place of a player who is not listed */
            rank: number;
            /** @description The rank among everybody in the list, 1-based; in rows of friends alone */
            globalRank?: number;
            /** @description 1-128 bytes of UTF-8; of guilds the guild's id */
            playerId: string;
            /** @description The id of the submission, on boards where each run is an entry: with the player it names the row */
            entryId?: string;
            displayName: string | null;
            /** @description With fields: ["player"], of players: their face as it is now. A row whose face changed comes among the changes */
            player?: {
                avatarUrl: string | null;
                region: string | null;
                attributes: {
                    [key: string]: string;
                };
            };
            score: number;
            columns: {
                [key: string]: number;
            };
            achievedAt: string | null;
            metadata: Record<string, unknown> | null;
            /** @description On boards that keep runs, of players: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run */
            verified?: boolean;
            /** @description Of that run, an https URL: on boards with `proof: everyone` */
            proof?: string | null;
            /** @description On boards with decay: the score without its tax */
            rawScore?: number;
            /** @description On boards with decay: the patch as which the run counts */
            patch?: string;
            /** @description On boards with decay: how many patches that is behind the latest */
            patchesBehind?: number;
            previousRank: number | null;
            previousScore: number | null;
            passed: string[];
        };
        /** @description A row that others shifted */
        ShiftChange: {
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
            /** @description The id of the submission, on boards where each run is an entry: with the player it names the row */
            entryId?: string;
            /** @description 1-based, in the style of the snapshot. Rows of equal rank stand in the order of the tie-break: time, then the bytes of the player id. An ordinal gap is the place of a player who is not listed */
            rank: number;
            /** @description 1-based, in the style of the snapshot. Rows of equal rank stand in the order of the tie-break: time, then the bytes of the player id. An ordinal gap is the place of a player who is not listed */
            previousRank: number;
        };
        /** @description A row that left the list */
        LeaveChange: {
            /** @description 1-128 bytes of UTF-8 */
            playerId: string;
            /** @description The id of the submission, on boards where each run is an entry: with the player it names the row */
            entryId?: string;
            rank: null;
            /** @description 1-based, in the style of the snapshot. Rows of equal rank stand in the order of the tie-break: time, then the bytes of the player id. An ordinal gap is the place of a player who is not listed */
            previousRank: number;
        };
        /** @description RFC 9457 */
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @enum {string} */
            code: "VALIDATION_FAILED" | "MALFORMED_JSON" | "UNAUTHENTICATED" | "FORBIDDEN" | "PLAYER_BANNED" | "NOT_FOUND" | "BOARD_NOT_FOUND" | "ENTRY_NOT_FOUND" | "WINDOW_NOT_FOUND" | "SCOPE_NOT_FOUND" | "PLAYER_NOT_FOUND" | "GUILD_NOT_FOUND" | "CIRCLE_NOT_FOUND" | "DEAD_LETTER_NOT_FOUND" | "API_KEY_NOT_FOUND" | "POOL_NOT_FOUND" | "GAME_NOT_FOUND" | "RUN_NOT_FOUND" | "TEMPLATE_NOT_FOUND" | "FLAG_NOT_FOUND" | "RATING_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "WINDOW_CLOSED" | "WINDOW_NOT_SETTLED" | "SUBMISSION_ID_REUSED" | "BOARD_NOT_EMPTY" | "API_KEY_FIXED" | "LAST_ADMIN_KEY" | "GUILD_NOT_EMPTY" | "LIMIT_REACHED" | "GAME_ID_REUSED" | "GAME_VOIDED" | "PATCH_IN_USE" | "POOL_HAS_GAMES" | "PERIOD_CLOSED" | "RECOMPUTE_TOO_LARGE" | "FLAG_DECIDED" | "BOARD_IN_USE" | "BOARD_NOT_OF_TEMPLATE" | "EDITION_NOT_FOUND" | "SNAPSHOT_GONE" | "RUN_GONE" | "CURSOR_EXPIRED" | "SUBSCRIPTION_EXISTS" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "NOT_SUPPORTED" | "LANES_NOT_RAISED" | "NOT_A_PLAYER" | "RANK_STYLE_NOT_KEPT" | "RUNS_NOT_KEPT" | "HISTORY_NOT_KEPT" | "RUN_NOT_VOIDABLE" | "SCORE_OUT_OF_BOUNDS" | "OPERATOR_REFUSED" | "COLUMN_OUT_OF_BOUNDS" | "COLUMNS_MISMATCH" | "BOUNDARIES_IMPOSSIBLE" | "METADATA_TOO_LARGE" | "ACHIEVED_AT_IN_FUTURE" | "ACHIEVED_AT_REFUSED" | "WINDOW_UNENDING" | "WINDOW_MISMATCH" | "ATTEMPTS_EXHAUSTED" | "SUBMISSION_REJECTED" | "PATCH_UNKNOWN" | "DECAY_NEEDS_POSITIVE_SCORES" | "RULE_UNKNOWN" | "ALGORITHM_UNKNOWN" | "PLAYERS_NOT_SUPPORTED" | "GAME_TOO_LARGE" | "BOARD_IS_FED" | "BOARD_NOT_FED" | "UPGRADE_REQUIRED" | "HEADERS_TOO_LARGE" | "RATE_LIMITED" | "SUBSCRIPTION_LIMIT" | "TOO_MANY_MESSAGES" | "INTERNAL" | "ALGORITHM_MISSING" | "OVERLOADED" | "IDENTITY_UNAVAILABLE" | "LEDGER_UNAVAILABLE" | "OUTBOX_FULL" | "SETTLEMENT_FAILED" | "PROJECTION_UNAVAILABLE" | "PROJECTION_BEHIND";
            instance?: string;
            errors?: {
                pointer: string;
                message: string;
            }[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
