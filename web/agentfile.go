package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// agentFile is DATA/agent.json: where the running agent answers, and the token
// that only the user can read. The token is new at each start, so that one left
// behind by a crash is worth nothing to whoever gets the port next.
type agentFile struct {
	Address string `json:"address"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

func agentFilePath(dataDir string) string { return filepath.Join(dataDir, "agent.json") }

func readAgentFile(dataDir string) (agentFile, error) {
	data, err := os.ReadFile(agentFilePath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return agentFile{}, ErrNoAgent
	}
	if err != nil {
		return agentFile{}, err
	}
	var a agentFile
	if err := json.Unmarshal(data, &a); err != nil || a.Address == "" || a.Token == "" {
		return agentFile{}, fmt.Errorf("%w: %s is damaged", ErrNoAgent, agentFilePath(dataDir))
	}
	return a, nil
}

// write puts the file in place at once, readable only by the user from its
// first byte (CreateTemp makes files of mode 0600).
func (a agentFile) write(dataDir string) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dataDir, "agent-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), agentFilePath(dataDir))
}

// removeAgentFile removes the file, unless a newer agent has written its own.
func removeAgentFile(dataDir, token string) error {
	a, err := readAgentFile(dataDir)
	if errors.Is(err, ErrNoAgent) || (err == nil && a.Token != token) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(agentFilePath(dataDir))
}
