package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// indexed says for each hour which idx of the target, by its hash, the file
// index was fed from: a run that changes nothing leaves the idx, and so this, as
// it was.
type indexed [24]string

func settingIndexed(job string) string { return "indexed/" + job }

// feedIndex tells the file index what a sealed hour holds, if it has changed.
// The index only serves search: trouble with it is logged and fails no run.
// record is the sealing run in the store.
func (a *Agent) feedIndex(ctx context.Context, j store.Job, st engine.State, record string) {
	if err := a.tryFeedIndex(ctx, j, st, record); err != nil {
		a.log.Error("file index is behind", "job", j.Name, "hour", st.Hour, "error", err)
	}
}

func (a *Agent) tryFeedIndex(ctx context.Context, j store.Job, st engine.State, record string) error {
	var fed indexed
	if _, err := a.config.Store.Setting(settingIndexed(j.ID), &fed); err != nil {
		return err
	}
	run, err := a.config.Store.Indexed(j.ID, st.Hour)
	if err != nil || run != "" && st.Index != "" && fed[st.Hour] == st.Index {
		return err
	}
	d := engine.Dest{Target: j.Target, Hour: st.Hour}
	if err := a.config.Store.Index(j.ID, st.Hour, record, a.sealedFiles(ctx, d, st.RunID)); err != nil {
		return err
	}
	fed[st.Hour] = st.Index
	return a.config.Store.SetSetting(settingIndexed(j.ID), fed)
}

// errEnough ends the engine's listing when the store wants no more.
var errEnough = errors.New("enough")

// sealedFiles lists the files of an hour, as run left them.
func (a *Agent) sealedFiles(ctx context.Context, d engine.Dest, run string) iter.Seq2[store.File, error] {
	return func(yield func(store.File, error) bool) {
		sealed, err := a.engine.entries(d, func(e engine.HourEntry) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(store.File(e), nil) {
				return errEnough
			}
			return nil
		})
		if err == nil && sealed != run {
			err = fmt.Errorf("the hour was sealed anew by run %s", sealed)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.File{}, err)
		}
	}
}
